package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// bareClient is a bare client that runs as a process of its own.
type bareClient struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startBare starts the bare client and waits until it is ready.
func (c *cluster) startBare(ctx context.Context, args ...string) (*bareClient, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &bareClient{command: exec.CommandContext(ctx, own, append([]string{"raw", "--kubeconfig", c.kubeconfig}, args...)...)}
	b.command.Stderr = os.Stderr
	if b.in, err = b.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReader(out)
	if err := b.command.Start(); err != nil {
		return nil, fmt.Errorf("start the bare client: %w", err)
	}
	return b, b.hears()
}

// hears waits for the next line that the bare client prints.
func (b *bareClient) hears() error {
	if _, err := b.out.ReadString('\n'); err != nil {
		return errors.Join(fmt.Errorf("wait for the bare client: %w", err), b.command.Wait())
	}
	return nil
}

// goOn lets the bare client continue to its next line, or to its end.
func (b *bareClient) goOn() error {
	_, err := io.WriteString(b.in, "\n")
	return err
}

// bareWork returns the work of the bare client.
func (b *bench) bareWork(ctx context.Context, args ...string) (work, error) {
	if err := b.freshPods(ctx, false); err != nil {
		return work{}, err
	}
	bare, err := b.cluster.startBare(ctx, args...)
	if err != nil {
		return work{}, err
	}
	w, err := b.measure(ctx, bare.command.Process.Pid, func() error {
		return errors.Join(bare.goOn(), bare.hears())
	})
	if err != nil {
		return work{}, err
	}
	if err := errors.Join(bare.goOn(), bare.command.Wait()); err != nil {
		return work{}, fmt.Errorf("run the bare client: %w", err)
	}
	return w, b.cluster.check(ctx)
}
