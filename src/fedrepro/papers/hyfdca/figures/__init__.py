"""The figures of Overman, Blum & Klabjan 2023, and ours that settle what they leave open."""
