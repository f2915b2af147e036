"""What croppers are asked, and their answers."""
