"""The relatives of BERT and GPT: for each the one change it made."""
