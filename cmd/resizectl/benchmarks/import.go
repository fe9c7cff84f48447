package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
)

// formatAuto detects the format of a feed from its content.
const formatAuto = "auto"

type importOptions struct {
	print.Output
	server *connect.Connection
	dryRun command.DryRun

	files     []string
	format    string
	benchmark string
	servers   string
	instance  string
	vcpus     vcpusFlag
	source    string
}

func newImportCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &importOptions{Output: out, server: server, vcpus: vcpusFlag{}}
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Import measurements from files",
		Long: `Import measurements from files; - is standard input.

The formats are

  perfkit      newline-delimited JSON of PerfKitBenchmarker
  sparecores   rows of Spare Cores' benchmark scores, as JSON or CSV, with the
               table of servers in --servers; or its dump as SQL, which has both
  cloud-csv    a table as a cloud provider publishes it, as CSV or Markdown, a row
               per VM size; --benchmark names the benchmark
  geekbench    what Geekbench 6 writes with --export-json
  phoronix     what phoronix-test-suite writes with result-file-to-json
  samples      newline-delimited JSON of samples, as bench-node writes it

Files may be compressed with gzip or xz, and be UTF-8 or, as Excel and PowerShell
write it, UTF-16. Commas, semicolons or tabs separate the columns of CSV. Files
are read by the server's own parser.

Each bad row, and each sample that the server rejects, is a line on standard
error, as FILE:LINE: FIELD: what is wrong. Good rows are imported anyway. SKIPPED
rows are valid, but do not measure a node's speed. The documents (-o json) count
skipped and bad rows by reason. KNOWN samples are already stored, so you can
import a file again. OLD samples are older than the samples that the server keeps.

With --dry-run, nothing is stored. The exit code is

  0  everything was accepted
  1  at least one row is bad or was rejected; the others were accepted
  2  a file cannot be read, or the server did not accept it`,
		Example: `  # Import a table that a cloud provider publishes
  resizectl benchmark import coremark.csv --format cloud-csv --benchmark coremark

  # Show what the server would store or reject
  resizectl benchmark import results.json --dry-run

  # Import results of instance types whose names do not contain the number of vCPUs
  resizectl benchmark import results.json --vcpus cx42=8,cx52=16

  # Measure this machine, and import the result
  workload-resizer bench-node --node-type n4 --output - | resizectl benchmark import -`,
		Args: command.Args(cobra.MinimumNArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: command.Steps(o.run, o.complete),
	}
	o.format = formatAuto
	cmd.Flags().Var(command.OneOf(&o.format, "format", feedFormats()), "format", "format of the files, one of "+strings.Join(feedFormats(), ", ")+"; auto detects it from their content")
	command.CompleteFlag(cmd, "format", cobra.FixedCompletions(feedFormats(), cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVar(&o.benchmark, "benchmark", "", "benchmark in a cloud-csv table; for other formats, the only benchmark to import")
	cmd.Flags().StringVar(&o.servers, "servers", "", "file with the table of servers of sparecores files, as JSON or CSV")
	cmd.Flags().StringVar(&o.instance, "instance-type", "", "instance type that geekbench or phoronix files are about, if they do not name it")
	cmd.Flags().Var(o.vcpus, "vcpus", "vCPUs of instance types, such as `cx42=8`, if neither the row nor the name contains them")
	cmd.Flags().StringVar(&o.source, "source", sample.SourceImport, "source of samples that do not name one")
	o.dryRun.AddFlag(cmd, "what would be stored")
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}

func feedFormats() []string {
	return append([]string{formatAuto}, print.Each(feed.Formats, func(f feed.Format) string { return string(f) })...)
}

func (o *importOptions) complete(cmd *cobra.Command, args []string) error {
	o.files = args
	if slices.Contains(args, "") {
		return command.UsageErrorf(cmd, "the name of the file is empty")
	}
	if n := slices.Index(args, "-"); n >= 0 && slices.Contains(args[n+1:], "-") {
		return command.UsageErrorf(cmd, "standard input (-) can be read only once")
	}
	return command.CheckFlag(cmd, "benchmark", "for all of them")
}

// run imports file by file, even if one of them cannot be read. The duration depends on
// their size, so --timeout applies only if it is set.
func (o *importOptions) run(ctx context.Context) error {
	var all []*imported
	var unread []error
	noted := suite.Listed(o.benchmark)
	line := print.NewProgress(o.ErrOut)
	failed := o.server.Stream(ctx, func(ctx context.Context, c *client.Client) error {
		for _, file := range o.files {
			done, samples, err := o.read(ctx, file)
			if err != nil {
				unread = append(unread, err)
				continue
			}
			if err := done.send(ctx, c, samples, o.dryRun.On(), line); err != nil {
				return err
			}
			all = append(all, done)
			notes := done.faults()
			if done.Format == string(feed.CloudCSV) && !noted {
				noted = true
				// A typo would count as another benchmark, with which few measurements look more certain than they are.
				notes = append(notes, fmt.Sprintf("note: %s is not in the table of suites, so it counts as a benchmark of its own; check --benchmark for typos", print.OneLine(o.benchmark)))
			}
			if err := print.Texts(o.ErrOut, notes...); err != nil {
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

// maxVCPUs is the maximum number of vCPUs of a machine.
const maxVCPUs = 4096

// vcpusFlag is the value of a flag with the numbers of vCPUs by instance type.
type vcpusFlag map[string]int

// String implements pflag.Value.
func (v vcpusFlag) String() string {
	return strings.Join(print.Each(slices.Sorted(maps.Keys(v)), func(name string) string { return fmt.Sprintf("%s=%d", name, v[name]) }), ",")
}

// Set implements pflag.Value. It adds to what was set before.
func (v vcpusFlag) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, number, found := strings.Cut(part, "=")
		if name = strings.TrimSpace(name); !found || name == "" {
			return errors.New("must be instance types with their vCPUs, such as m7i.large=2,m7i.xlarge=4")
		}
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n < 1 || n > maxVCPUs {
			return fmt.Errorf("%s must have 1 to %d vCPUs, not %q", name, maxVCPUs, number)
		}
		v[name] = n
	}
	return nil
}

// Type implements pflag.Value.
func (v vcpusFlag) Type() string { return "m7i.large=2" }
