"""How the models that are stored with the course were made: training, judging, saving. A learner loads them."""
