"""What several algorithms share and is no algorithm of its own."""
