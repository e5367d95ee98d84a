"""The arena: every method on every problem it can solve, at equal budgets. No paper has it; it is kept like one."""
