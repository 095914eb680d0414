"""The network that FFB (ICLR 2024) trains as f, written from its description."""

from itertools import pairwise

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin


class FFBNetwork(ClassifierMixin, BaseEstimator):
    """An MLP as FFB describes its f: 512-256-64, dropout, 150 steps of Adam at 0.01, a tenth of it every 50 steps."""

    def __init__(self, seed=0):
        self.seed = seed

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            rows, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(np.asarray(y), dtype=torch.float32)
            sizes, layers = [X.shape[1], 512, 256, 64], []
            for before, after in pairwise(sizes):
                layers += [torch.nn.Linear(before, after), torch.nn.ReLU(), torch.nn.Dropout(0.5)]
            self.network_ = torch.nn.Sequential(*layers, torch.nn.Linear(64, 1)).train()
            adam = torch.optim.Adam(self.network_.parameters(), lr=0.01)
            rate = torch.optim.lr_scheduler.StepLR(adam, step_size=50, gamma=0.1)
            for _ in range(150):
                batch = torch.randint(len(rows), (1024,))
                adam.zero_grad()
                logit = self.network_(rows[batch]).squeeze(1)
                torch.nn.functional.binary_cross_entropy_with_logits(logit, labels[batch]).backward()
                adam.step(), rate.step()
        self.network_.eval()
        return self

    def predict_proba(self, X):
        with torch.no_grad():
            chance = torch.sigmoid(self.network_(torch.tensor(np.asarray(X), dtype=torch.float32))).squeeze(1).numpy()
        return np.column_stack([1 - chance, chance]).astype(float)
