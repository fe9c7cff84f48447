package benchmarks

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
)

// formatAuto has the format of a feed told by its content.
const formatAuto print.Format = "auto"

// importSource is who says what is imported, unless people or the samples name
// somebody.
const importSource = "import"

type importOptions struct {
	print.Output
	server *connect.Connection
	dryRun command.DryRun

	files     []string
	format    print.Format
	benchmark string
	vcpus     map[string]int
	source    string
}

func newImportCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &importOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Have the server keep measurements from files",
		Long: `Have the server keep measurements from files; - is standard input.

The formats are

  perfkit      PerfKitBenchmarker's newline JSON
  sparecores   rows of Spare Cores' benchmark scores, as JSON or CSV
  cloud-csv    a table as a cloud publishes it, a row per VM size; --benchmark says
               what was run
  samples      newline JSON of samples, as bench-node writes it

The code that reads them is that of the server. A row that is bad, and a sample that
the server rejects, is a line on standard error, as FILE:LINE: FIELD: what is wrong;
it does not keep the good ones out. SKIPPED rows are fine, but say nothing of a
node's speed, KNOWN samples are there already, so that a file can be imported
again, and OLD ones are older than those that are kept.

With --dry-run nothing is stored. The exit code is

  0  everything was taken
  1  at least one row is bad or was rejected; the others were taken
  2  a file cannot be read, or the server did not take it`,
		Example: `  # A table that a cloud publishes
  resizectl benchmark import coremark.csv --format cloud-csv --benchmark coremark

  # What would the server say of these?
  resizectl benchmark import results.json --dry-run

  # Of instance types whose names do not tell the number of vCPUs
  resizectl benchmark import results.json --vcpus m7i.large=2,m7i.xlarge=4

  # What an agent has measured by hand
  workload-resizer bench-node --node-type n4 --output - | resizectl benchmark import -`,
		Args: command.Args(cobra.MinimumNArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: command.Steps(o.run, o.complete),
	}
	o.format = formatAuto
	cmd.Flags().Var(command.OneOf(&o.format, "format", feedFormats()), "format", "format of the files, one of "+strings.Join(feedFormats(), ", ")+"; auto tells it from their content")
	command.CompleteFlag(cmd, "format", cobra.FixedCompletions(feedFormats(), cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVar(&o.benchmark, "benchmark", "", "what was run, of cloud-csv; of other formats, the only benchmark to import")
	cmd.Flags().StringToIntVar(&o.vcpus, "vcpus", nil, "vCPUs of instance types, such as `m7i.large=2`, where neither a row nor the name says")
	cmd.Flag("vcpus").DefValue = "" // Not "[]", which the help would show.
	cmd.Flags().StringVar(&o.source, "source", importSource, "who says so, where a sample does not")
	o.dryRun.AddFlag(cmd, "what would be stored")
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}

func feedFormats() []string {
	all := []string{string(formatAuto)}
	for _, f := range feed.Formats {
		all = append(all, string(f))
	}
	return all
}

func (o *importOptions) complete(cmd *cobra.Command, args []string) error {
	o.files = args
	if slices.Contains(args, "") {
		return command.UsageErrorf(cmd, "the name of the file is empty")
	}
	if n := slices.Index(args, "-"); n >= 0 && slices.Contains(args[n+1:], "-") {
		return command.UsageErrorf(cmd, "standard input (-) can be read only once")
	}
	for name, vcpus := range o.vcpus {
		if vcpus < 1 {
			return command.UsageErrorf(cmd, "--vcpus %s=%d is below 1", name, vcpus)
		}
	}
	return nil
}

// run imports file by file, even if one of them cannot be read. How long it may
// take depends on their size: --timeout holds only if it was given.
func (o *importOptions) run(ctx context.Context) error {
	var all []*imported
	var unread []error
	failed := o.server.Stream(ctx, func(ctx context.Context, c *client.Client) error {
		for _, file := range o.files {
			done, samples, err := o.read(ctx, file)
			if err != nil {
				unread = append(unread, err)
				continue
			}
			if err := done.send(ctx, c, samples, o.dryRun.On()); err != nil {
				return err
			}
			all = append(all, done)
			if err := done.printFaults(o.ErrOut); err != nil {
				return err
			}
		}
		return nil
	})
	if err := o.print(all); err != nil {
		return err
	}
	if err := errors.Join(append(unread, failed)...); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(i *imported) bool { return i.Bad > 0 || i.Rejected > 0 }) {
		return command.ErrNotImported
	}
	return nil
}
