"""The instructions as the Alpha Architecture Reference Manual defines them: for check-cases."""
