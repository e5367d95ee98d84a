"""A folder per paper, with whatever that paper alone needs: problems, theory, readings, claims, figures."""
