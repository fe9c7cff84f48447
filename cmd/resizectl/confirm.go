package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

var errNotConfirmed = errors.New("not confirmed, so nothing was changed")

// confirmation is asked for before many pods may change.
type confirmation struct {
	yes     bool
	subject string
}

// addYesFlag adds --yes, for what subject does to many pods.
func (c *confirmation) addYesFlag(cmd *cobra.Command, subject string) {
	c.subject = subject
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask before "+subject+" changes something")
}

// mustBePossible refuses what cannot be confirmed: where nobody is at a terminal,
// only --yes is a yes.
func (c *confirmation) mustBePossible(cmd *cobra.Command, streams genericiooptions.IOStreams) error {
	if !c.yes && !print.IsTerminal(streams.In) {
		return usageErrorf(cmd, "%s needs --yes where nobody can be asked", c.subject)
	}
	return nil
}

// ask asks the person at the terminal, unless --yes has answered.
func (c *confirmation) ask(cmd *cobra.Command, streams genericiooptions.IOStreams, question string) error {
	if err := c.mustBePossible(cmd, streams); err != nil || c.yes {
		return err
	}
	return confirm(cmd.Context(), streams.In, streams.ErrOut, question)
}

// confirm returns nil if the answer is yes.
func confirm(ctx context.Context, in io.Reader, out io.Writer, question string) error {
	if _, err := fmt.Fprintf(out, "%s [y/N] ", question); err != nil {
		return err
	}
	answer := make(chan string, 1)
	go func() {
		// The end of the input is no yes.
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- line
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case line := <-answer:
		if word := strings.ToLower(strings.TrimSpace(line)); word == "y" || word == "yes" {
			return nil
		}
		return errNotConfirmed
	}
}
