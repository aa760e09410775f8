"""What crosses a border: records, settings, problems, HTTP models and the SQL of every database."""
