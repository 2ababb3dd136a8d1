#!/usr/bin/env python3
"""A network's worth of settings with Hydra, and a sum that stands for the training."""

import json
import math
import os

import hydra
from omegaconf import DictConfig, OmegaConf


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(config: DictConfig):
    print(json.dumps(OmegaConf.to_container(config, resolve=True)))
    rate, layers = config.optimizer.lr, list(config.model.layers)
    best = 1e-2 if config.optimizer.name == "adam" else 1e-1
    floor = abs(math.log10(rate / best)) + 0.1 * abs(len(layers) - 2) + config.model.dropout
    for epoch in range(1, config.epochs + 1):
        loss = floor + math.exp(-epoch / 2)
        if "HYPEROPT_REPORT" in os.environ:
            with open(os.environ["HYPEROPT_REPORT"], "a") as file:
                file.write(json.dumps({"step": epoch, "loss": loss}) + "\n")


if __name__ == "__main__":
    main()
