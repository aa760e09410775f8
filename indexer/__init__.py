"""The batch side: archives → messages → chunks → vectors and entities → one published generation."""
