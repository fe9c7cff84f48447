package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

const reference = "../../docs/reference/cli.md"

func TestReference(t *testing.T) {
	t.Run("matches the help of the commands", matchesTheHelpOfTheCommands)
}

func matchesTheHelpOfTheCommands(t *testing.T) {
	t.Setenv("RESIZECTL_SERVER", "")
	root := newRootCommand(genericiooptions.NewTestIOStreamsDiscard(), new(print.ColorMode), false)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var b strings.Builder
	b.WriteString("<!-- generated: the help of the commands, by make generate -->\n# resizectl\n\nThe output of `--help` for each command.\n")
	describe(t, &b, root, nil)
	if *cmdtest.Update {
		if err := os.WriteFile(reference, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	content, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if string(content) != b.String() {
		t.Errorf("%s is out of date, run make generate", reference)
	}
}

// describe writes the help of a command and its subcommands.
func describe(t *testing.T, b *strings.Builder, cmd *cobra.Command, path []string) {
	code, help, stderr := program.Shell(t.Context(), append(path, "--help")...)
	if code != command.ExitOK || stderr != "" {
		t.Fatalf("%s --help: exit %d, %s", cmd.CommandPath(), code, stderr)
	}
	fmt.Fprintf(b, "\n## %s\n\n```text\n%s```\n", cmd.CommandPath(), help)
	if cmd.Name() == "completion" {
		return // The rest is cobra's own, and long.
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			describe(t, b, sub, append(path[:len(path):len(path)], sub.Name()))
		}
	}
}
