"""KIP-516 simulated: controller, brokers and voters in a deterministic world of virtual time.

``node`` says what a node is and what it is given, ``world`` runs nodes, ``rules`` has the text's
answer and the shipped one for each rule. ``docs/simulation.md`` describes it all.
"""
