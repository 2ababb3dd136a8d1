#!/usr/bin/env python3
"""A network on random numbers with Lightning; logs to ./lightning_logs. It has never heard of hyperopt."""

import argparse
import os

import lightning
import torch
from lightning.pytorch.loggers import CSVLogger


class Model(lightning.LightningModule):
    def __init__(self, lr, hidden):
        super().__init__()
        self.lr = lr
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1))

    def loss(self, batch):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layers(x).squeeze(-1), y)

    def training_step(self, batch, _):
        loss = self.loss(batch)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self.loss(batch), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr)


parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--hidden", type=int, default=8)
parser.add_argument("--epochs", type=int, default=6)
args = parser.parse_args()
torch.manual_seed(0)
data = torch.randn(256, 4)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data, data.sum(1)), batch_size=16)
ranks = int(os.environ.get("WORLD_SIZE", "1"))
logger = CSVLogger(".", flush_logs_every_n_steps=1)
trainer = lightning.Trainer(max_epochs=args.epochs, logger=logger, log_every_n_steps=4, accelerator="cpu",
                            devices=ranks, strategy="ddp" if ranks > 1 else "auto", enable_checkpointing=False,
                            enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Model(args.lr, args.hidden), loader, loader)
