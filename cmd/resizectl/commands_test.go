package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// commands returns all commands that do something, by their words without "resizectl",
// except for cobra's own. A command with commands of its own does something if it takes arguments.
func commands(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	all := map[string]*cobra.Command{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if len(cmd.Commands()) == 0 || takesArguments(cmd) {
			all[strings.TrimPrefix(cmd.CommandPath(), "resizectl ")] = cmd
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand(genericiooptions.NewTestIOStreamsDiscard(), new(print.ColorMode), false))
	return all
}

// takesArguments reports whether a command takes arguments, by its own description.
func takesArguments(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, " ") }

// asksNobody are the commands that do not need a server. The package check has its own tests of a
// server that does not answer, which is what it may find.
var asksNobody = []string{"backtest", "check", "config validate", "options", "version"}

func TestCommands(t *testing.T) {
	t.Run("tests every command that calls a server for errors", testsEveryCommandThatCallsAServerForErrors)
	t.Run("has valid command lines in all examples", hasValidCommandLinesInAllExamples)
	t.Run("has descriptions that fit a terminal", hasDescriptionsThatFitATerminal)
	t.Run("lists shared flags only in options", listsSharedFlagsOnlyInOptions)
	t.Run("completes files only where they are expected", completesFilesOnlyWhereTheyAreExpected)
	t.Run("has every flag that takes a file", hasEveryFlagThatTakesAFile)
}

func testsEveryCommandThatCallsAServerForErrors(t *testing.T) {
	for words := range commands(t) {
		tested := slices.ContainsFunc(everyCall, func(args []string) bool {
			return strings.HasPrefix(strings.Join(args, " ")+" ", words+" ")
		})
		if tested == slices.Contains(asksNobody, words) {
			t.Errorf("%s: tested for server errors: %v", words, tested)
		}
	}
}

// hasDescriptionsThatFitATerminal checks the width of the descriptions. Lines that are indented, such as commands to copy, may be longer.
func hasDescriptionsThatFitATerminal(t *testing.T) {
	const most = 92
	for words, cmd := range commands(t) {
		for line := range strings.SplitSeq(cmd.Long, "\n") {
			if n := utf8.RuneCountInString(line); n > most && !strings.HasPrefix(line, " ") {
				t.Errorf("%s has a line of %d characters, want at most %d: %s", words, n, most, line)
			}
		}
	}
}

// examples returns the command lines of resizectl in the examples of a help text.
func examples(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		_, line, ours := strings.Cut(strings.TrimSpace(line), "resizectl ")
		if !ours {
			continue
		}
		lines = append(lines, alone(line))
	}
	return lines
}

// alone returns a command line without the file or the program that reads what it prints.
func alone(line string) string {
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, " > ")
	return line
}

// words splits a command line like a shell that supports only double quotes.
func words(line string) []string {
	var all []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			all = append(all, part)
			continue
		}
		all = append(all, strings.Fields(part)...)
	}
	return all
}

func hasValidCommandLinesInAllExamples(t *testing.T) {
	texts := map[string]string{"resizectl": rootExamples}
	for name, cmd := range commands(t) {
		texts[name] = cmd.Example
	}
	for name, text := range texts {
		found := examples(text)
		if len(found) == 0 {
			t.Errorf("%s has no example", name)
		}
		for _, line := range found {
			// A command can be parsed only once, because it keeps its flags.
			root := newRootCommand(genericiooptions.NewTestIOStreamsDiscard(), new(print.ColorMode), false)
			cmd, rest, err := root.Find(words(line))
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %q: %v", name, line, err)
			}
			if name != "resizectl" && !strings.HasPrefix(line, name) {
				t.Errorf("%s: %q is an example of another command", name, line)
			}
		}
	}
}

// takesFiles are the commands whose arguments are files.
var takesFiles = []string{"benchmark import"}

// A shell completes the names of files by default.
func listsSharedFlagsOnlyInOptions(t *testing.T) {
	t.Setenv("RESIZECTL_SERVER", "")
	root := newRootCommand(genericiooptions.NewTestIOStreamsDiscard(), new(print.ColorMode), false)
	_, options, _ := program.Shell(t.Context(), "options")
	_, help, _ := program.Shell(t.Context(), "holds", "--help")
	if !strings.HasSuffix(help, "\nUse \"resizectl options\" for the flags that apply to all commands.\n") {
		t.Errorf("the help does not mention them:\n%s", help)
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if strings.Contains(help, "--"+f.Name+" ") || !strings.Contains(options, "--"+f.Name+" ") {
			t.Errorf("--%s is in the help of a command, or not in options", f.Name)
		}
	})
}

func completesFilesOnlyWhereTheyAreExpected(t *testing.T) {
	address := cmdtest.Answering(known()).Serve(t)
	ending := func(args ...string) string {
		_, stdout, _ := program.Shell(t.Context(), append([]string{"__complete"}, args...)...)
		return stdout[strings.LastIndex(stdout, ":"):]
	}
	for name, cmd := range commands(t) {
		before := append(strings.Fields(name), "--server", address)
		got := ending(append(before, "")...)
		if takes := got == ":0\n"; takes != slices.Contains(takesFiles, name) {
			t.Errorf("%s: arguments are completed with %s", name, got)
		}
		cmd.InheritedFlags() // Makes cobra add the flags of the root.
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.NoOptDefVal != "" {
				return
			}
			got := ending(append(before, "--"+flag.Name, "")...)
			if takesFile := got == ":0\n"; takesFile != slices.Contains(takeFiles, flag.Name) {
				t.Errorf("%s --%s: completed with %s", name, flag.Name, got)
			}
		})
	}
}

func hasEveryFlagThatTakesAFile(t *testing.T) {
	unknown := slices.Clone(takeFiles)
	for _, cmd := range commands(t) {
		cmd.InheritedFlags()
		unknown = slices.DeleteFunc(unknown, func(name string) bool { return cmd.Flag(name) != nil })
	}
	if len(unknown) > 0 {
		t.Errorf("no command has the flags %v", unknown)
	}
}
