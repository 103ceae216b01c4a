"""transformers and torch in fp32: logits, gradients and training steps."""
import torch
import transformers as hf

LR, WARMUP, BETAS, EPS, DECAY, CLIP = 1e-3, 10, (0.9, 0.95), 1e-8, 0.1, 1.0


def plain_fp32():
    """Nothing that rounds operands or chooses another attention than the one that is written out."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    hf.utils.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()


def apart(ours, expected):
    """Largest difference, relative to the largest number that is expected."""
    return ((ours.double() - expected.double()).abs().max() / expected.double().abs().max()).item()


def loss_of(model, batch):
    """batch: (B, T + 1), inputs and, shifted by one, targets."""
    logits = model(batch[:, :-1], use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def gradients_of(model, batch):
    model.zero_grad()
    loss = loss_of(model, batch.to(model.device))
    loss.backward()
    return loss.item(), {name: p.grad.detach().cpu() for name, p in model.named_parameters()}


def numbers_of(model):
    """Parameters, and buffers, which hold rotary frequencies."""
    return [*model.parameters(), *(buffer for buffer in model.buffers() if buffer.is_floating_point())]


def perturb(model, seed):
    """All numbers differ by their last bit: what another order of sums, or another pow(), would do to them."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in numbers_of(model):
            sign = torch.randint(-1, 2, tensor.shape, generator=generator).to(tensor.device)
            tensor.mul_(1 + sign * 2.0**-23)


def rate_at(step):
    return LR * min(1.0, (step + 1) / WARMUP)


def train(model, batches, seed=0):
    """Losses of a run from the model as it is, which is changed. Another seed than 0 is a run whose weights and rotary
    frequencies differ by their last bit; of odd ones the rows of batches stand in another order too."""
    if seed > 0:
        perturb(model, seed)
    decayed = [p for name, p in model.named_parameters() if p.dim() > 1]
    others = [p for name, p in model.named_parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}],
                                  lr=LR, betas=BETAS, eps=EPS)
    losses = []
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step)
        optimizer.zero_grad()
        loss = loss_of(model, batch.flip(0) if seed % 2 else batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).double().cpu()


def runs(model, batches, count):
    """Losses (count, steps) of runs that differ by rounding alone."""
    batches = [batch.to(model.device) for batch in batches]
    with torch.no_grad():
        loss_of(model, batches[0])  # dynamic scaling makes its frequencies for a length when it first sees it
    initial = [tensor.detach().clone() for tensor in numbers_of(model)]
    all_losses = []
    for seed in range(count):
        with torch.no_grad():
            for tensor, value in zip(numbers_of(model), initial):
                tensor.copy_(value)
        all_losses.append(train(model, batches, seed))
    return torch.stack(all_losses)
