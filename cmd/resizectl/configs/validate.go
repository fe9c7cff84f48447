package configs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/ratios/config"
)

// DefaultName is the name of the ConfigMap that the server reads by default.
const DefaultName = "workload-resizer-config"

type validateOptions struct {
	genericiooptions.IOStreams
	files []string
	name  string
}

func newValidateCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &validateOptions{IOStreams: streams}
	cmd := &cobra.Command{
		Use:   "validate -f FILE",
		Short: "Check configurations before they are applied",
		Long: `Check configurations before they are applied.

FILE is a config.yaml, or a manifest of the ConfigMap that has it; the manifest
can be among others or in a List. Use - for standard input. If several ConfigMaps
have a config.yaml, the command checks the one that --config-name names, or all of
them if none has that name. It uses the server's own parser, and sends nothing
anywhere. Each fault is a line on standard error, with the path to it.

A node type that would be faster or slower than the baseline by more than
maxSpeedRatio (by default 5) is a fault, too. The server accepts such a
configuration, but does not use these node types.

The exit code is

  0  all files are valid
  1  at least one is not
  2  a file cannot be read, or the command line is wrong`,
		Example: `  # Check a manifest before you apply it
  resizectl config validate -f deploy/samples/config.yaml

  # Check the configuration in the cluster
  kubectl -n workload-resizer-system get configmap workload-resizer-config -o yaml | resizectl config validate -f -`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(o.files) == 0 {
				return command.UsageErrorf(cmd, "name the file to check with -f FILE, or -f - for standard input")
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "config.yaml or manifest to check: a file, a URL, or - for standard input; can be repeated")
	cmd.Flags().StringVar(&o.name, "config-name", DefaultName, "name of the ConfigMap to check, if several have a configuration")
	return cmd
}

// run checks all files, even if one of them cannot be read.
func (o *validateOptions) run(ctx context.Context) error {
	var unread []error
	valid := true
	for _, file := range o.files {
		text, err := command.Source(file).Read(ctx, o.In)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		if file == "-" {
			file = "stdin"
		}
		for _, c := range Find(text, o.name) {
			ok, err := o.check(file, c)
			if err != nil {
				return err
			}
			valid = valid && ok
		}
	}
	if len(unread) > 0 {
		return errors.Join(unread...)
	}
	if !valid {
		return command.ErrInvalid
	}
	return nil
}

// check prints the result for a configuration, and reports whether it is valid. An error
// means that the result could not be printed.
func (o *validateOptions) check(file string, c Config) (bool, error) {
	if c.manifest != "" {
		file += ": " + c.manifest
	}
	nodeTypes, rules, err := 0, 0, c.Err
	if err == nil {
		nodeTypes, rules, err = config.Validate(c.Text)
	}
	if err == nil {
		_, err := fmt.Fprintf(o.Out, "%s: valid: %s, %s\n", print.OneLine(file), print.CountOf(int64(nodeTypes), "node type"), print.CountOf(int64(rules), "rule"))
		return true, err
	}
	faults, ok := errors.AsType[config.Faults](err)
	if !ok {
		faults = config.Faults{err.Error()}
	}
	return false, print.Texts(o.ErrOut, print.Each(faults, func(fault string) string { return print.OneLine(file) + ": " + print.OneLine(fault) })...)
}

// NewCommand returns config, with its commands.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check the configuration of the server",
		Long: `Check the configuration of the server, config.yaml: the performance of the node
types, the bounds of requests, and the rules for some pods.

This needs no server.`,
	}
	command.Group(cmd)
	cmd.AddCommand(newValidateCommand(streams))
	return cmd
}
