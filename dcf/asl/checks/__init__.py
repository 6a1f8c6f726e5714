"""What AWS and we refuse or warn of, with codes, words and examples."""
