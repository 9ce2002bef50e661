"""A trial and its hash, the store on disk, the plan, and the engines that run many trials."""
