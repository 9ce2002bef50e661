"""Reports: page, pictures, exports, mistakes, differences, audits and statistics of data."""
