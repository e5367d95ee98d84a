"""What a run is: experiments, blocks, references and traces as records, and what runs, tunes and reads them."""
