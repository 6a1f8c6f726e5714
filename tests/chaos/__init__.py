"""Real chaos: workers, Redis and the network between them fail while runs go on (`make chaos`)."""
