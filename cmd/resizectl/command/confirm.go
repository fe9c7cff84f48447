package command

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

// Confirmation asks the user before a command changes many pods.
type Confirmation struct {
	yes     bool
	subject string
}

// AddYesFlag adds --yes. subject is the flag or command that changes many pods.
func (c *Confirmation) AddYesFlag(cmd *cobra.Command, subject string) {
	c.subject = subject
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask for confirmation of "+subject)
}

// Given reports whether --yes is set, so that Ask does not ask.
func (c *Confirmation) Given() bool { return c.yes }

// MustBePossible returns an error if nobody can confirm: without a terminal, --yes is
// required.
func (c *Confirmation) MustBePossible(cmd *cobra.Command, streams genericiooptions.IOStreams) error {
	if !c.yes && !print.IsTerminal(streams.In) {
		return UsageErrorf(cmd, "%s requires --yes if standard input is not a terminal", c.subject)
	}
	return nil
}

// Ask asks the user at the terminal, unless --yes is set.
func (c *Confirmation) Ask(cmd *cobra.Command, streams genericiooptions.IOStreams, question string) error {
	if err := c.MustBePossible(cmd, streams); err != nil || c.yes {
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
		// The end of the input is not a yes.
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
