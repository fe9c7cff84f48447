package main

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pluginProgram is the name by which kubectl finds a program that it offers as one of its own
// commands; on Windows, it ends in .exe.
const pluginProgram = "kubectl-workload_resizer"

// pluginName is what users write then: kubectl reads _ in the name of the file as -.
const pluginName = "kubectl workload-resizer"

// textWidth is the width of the help texts.
const textWidth = 82

func isPlugin(program string) bool {
	return strings.TrimSuffix(program, ".exe") == pluginProgram
}

// asPlugin makes the help texts name the program as users write it.
func asPlugin(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: pluginName}
	rename(root)
}

func rename(cmd *cobra.Command) {
	cmd.Short, cmd.Example = renamed(cmd.Short), renamed(cmd.Example)
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, paragraph := range paragraphs {
		if text := renamed(paragraph); text != paragraph {
			paragraphs[i] = filled(text)
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) { flag.Usage = renamed(flag.Usage) })
	for _, sub := range cmd.Commands() {
		rename(sub)
	}
}

var programName = regexp.MustCompile(`\bresizectl\b`)

func renamed(text string) string { return programName.ReplaceAllString(text, pluginName) }

// filled wraps a paragraph again, because the longer name makes lines too long. Columns,
// which are indented, stay as they are.
func filled(paragraph string) string {
	if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") {
		return paragraph
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(paragraph) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > textWidth:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// pluginError names commands in quotes as users write them. Text that is not in quotes may be
// a file.
type pluginError struct{ error }

// Error implements error.
func (e pluginError) Error() string {
	return strings.ReplaceAll(e.error.Error(), `"resizectl `, `"`+pluginName+" ")
}

// Unwrap returns the error with the commands of resizectl.
func (e pluginError) Unwrap() error { return e.error }
