"""Where the bytes of a dataset come from: folders, publishers, packages, and what vouches for them."""
