"""What is published and looked at: page, pictures, exports, mistakes, differences, audits and statistics of data."""
