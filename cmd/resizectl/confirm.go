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
)

var errNotConfirmed = errors.New("not confirmed, so nothing was changed")

// confirmation is asked for before something is done to every pod.
type confirmation struct{ yes bool }

func (c *confirmation) addYesFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask before --all-namespaces changes something")
}

// ask asks the person at the terminal. Where there is none, only --yes is a yes.
func (c *confirmation) ask(cmd *cobra.Command, streams genericiooptions.IOStreams, question string) error {
	if c.yes {
		return nil
	}
	if !isTerminal(streams.In) {
		return usageErrorf(cmd, "--all-namespaces needs --yes where nobody can be asked")
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
