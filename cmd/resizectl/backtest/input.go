package backtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/usage/backtest"
	"github.com/workload-resizer/workload-resizer/usage/prometheus"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// input is where the machines come from.
type input struct {
	trace string

	prometheus, tenant, selector string
	span                         time.Duration
	until                        string

	machines, days int
	seed           uint64
}

func (in *input) addFlags(f *pflag.FlagSet) {
	f.StringVar(&in.trace, "trace", "", "trace to replay, or - for standard input")
	f.StringVar(&in.prometheus, "prometheus", "", "URL of a Prometheus, or anything with its API, whose containers to replay")
	f.StringVar(&in.tenant, "tenant", "", "tenant to read, if the Prometheus has several (sent as X-Scope-OrgID)")
	f.StringVar(&in.selector, "selector", "", `label matchers that all series must match, such as cluster="a" if the Prometheus has several clusters`)
	command.DurationVar(f, &in.span, "range", 30*24*time.Hour, "time to read from the Prometheus, which includes the first 8 days")
	f.StringVar(&in.until, "until", "", "end of that time, such as 2026-03-01T00:00:00Z (default: now)")
	f.IntVar(&in.machines, "machines", 20, "number of generated machines")
	f.IntVar(&in.days, "days", 30, "days of generated machines")
	f.Uint64Var(&in.seed, "seed", 1, "seed of generated machines: the same seed generates the same usage")
}

// warmup is the time that does not count, because policies learn in it.
var warmup = backtest.DefaultSettings().Warmup

// longest is the longest time to read: a year of data at five minutes.
const longest = 366 * 24 * time.Hour

// mostMachineDays is how many days of machines are generated at most: a gigabyte of samples.
const mostMachineDays = 100_000

// check returns what is wrong with the flags. A flag that would be ignored is an error, and so is an
// empty one, which a script may leave: the result would look like that of the user's own machines.
func (in *input) check(given func(flag string) bool) error {
	some := func(flags ...string) bool { return slices.ContainsFunc(flags, given) }
	switch {
	case given("trace") && in.trace == "":
		return errors.New("--trace is empty: expected a file, or - for standard input")
	case given("prometheus") && in.prometheus == "":
		return errors.New("--prometheus is empty: expected a URL such as http://localhost:9090")
	case given("selector") && strings.TrimSpace(in.selector) == "":
		return errors.New("--selector is empty: expected label matchers such as cluster=\"a\"")
	case given("tenant") && in.tenant == "":
		return errors.New("--tenant is empty: expected the name of a tenant")
	case in.trace != "" && in.prometheus != "":
		return errors.New("--trace and --prometheus cannot be combined")
	case in.prometheus == "" && some("tenant", "selector", "until", "range"):
		return errors.New("--tenant, --selector, --until and --range require --prometheus")
	case (in.trace != "" || in.prometheus != "") && some("machines", "days", "seed"):
		return errors.New("--machines, --days and --seed are for generated machines: they cannot be combined with --trace or --prometheus")
	case in.prometheus != "" && (in.span <= warmup || in.span > longest):
		return errors.New("--range must be more than 8d, which do not count, and at most 366d, such as 30d")
	case in.trace == "" && in.prometheus == "" && (in.machines < 1 || in.machines > 10_000 || in.days < 1 || in.days > 1000):
		return errors.New("--machines must be between 1 and 10000, and --days between 1 and 1000")
	case in.trace == "" && in.prometheus == "" && in.machines*in.days > mostMachineDays:
		return fmt.Errorf("%d machines of %d days do not fit in memory: at most %d days of all machines together", in.machines, in.days, mostMachineDays)
	}
	_, err := in.end()
	return err
}

// end returns the end of the time to read.
func (in *input) end() (time.Time, error) {
	if in.until == "" {
		return time.Now(), nil
	}
	at, err := time.Parse(time.RFC3339, in.until)
	if err != nil {
		return at, fmt.Errorf("--until %q is not a time such as 2026-03-01T00:00:00Z", in.until)
	}
	return at, nil
}

// read reads or generates the machines. Warnings say what may be missing.
func (in *input) read(ctx context.Context, stdin io.Reader, warnings io.Writer) (machines []*trace.Machine, err error) {
	keep := func(m *trace.Machine) error {
		machines = append(machines, m)
		return ctx.Err()
	}
	switch {
	case in.prometheus != "":
		return in.readPrometheus(ctx, warnings)
	case in.trace == "":
		out, write := io.Pipe()
		go func() { write.CloseWithError(trace.Generate(write, in.machines, in.days, in.seed)) }()
		defer out.Close()
		err = trace.Read(out, keep)
	case in.trace == "-":
		if err = trace.Read(stdin, keep); err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
	default:
		file, openErr := os.Open(in.trace)
		if openErr != nil {
			return nil, command.FileError(in.trace, openErr)
		}
		defer file.Close()
		if err = trace.Read(file, keep); errors.Is(err, syscall.EISDIR) {
			err = command.FileError(in.trace, err)
		} else if err != nil {
			err = fmt.Errorf("%s: %w: see \"resizectl backtest --help\" for the form of a trace", in.trace, err)
		}
	}
	return machines, err
}

// readPrometheus reads the machines from a Prometheus.
func (in *input) readPrometheus(ctx context.Context, warnings io.Writer) ([]*trace.Machine, error) {
	source, err := prometheus.New(prometheus.Config{Address: in.prometheus, Tenant: in.tenant, Selector: in.selector})
	if err != nil {
		return nil, fmt.Errorf("--prometheus: %w", err)
	}
	until, err := in.end()
	if err != nil {
		return nil, err
	}
	since := until.Add(-in.span)
	given, err := source.Given(ctx, since, until)
	if err != nil {
		err = fmt.Errorf("read what containers were given from %s: %w", source.Name(), err)
		if given == nil {
			return nil, fmt.Errorf("%w: check --prometheus", err)
		}
		fmt.Fprintf(warnings, "warning: %s\n", print.OneLine(err.Error()))
	}
	unknown := 0
	machines, err := trace.Record(ctx, source, since, until, func(c trace.Container) (string, recommend.Authored, bool) {
		w, authored, known := given.Of(c.Namespace, c.Pod, c.Name)
		if !known {
			unknown++
		}
		return fmt.Sprintf("%s/%s/%s/%s", w.Namespace, w.Kind, w.Name, c.Name), authored, known
	})
	if len(machines) > 0 && err != nil {
		fmt.Fprintf(warnings, "warning: %s\n", print.OneLine(err.Error()))
		err = nil
	}
	if err == nil && len(machines) == 0 && unknown > 0 {
		return nil, fmt.Errorf("%s has usage of %d containers, but kube_pod_owner does not describe their pods: the labels namespace and pod must be those of the pods (honor_labels)", source.Name(), unknown)
	}
	if err == nil && len(machines) == 0 {
		err = fmt.Errorf("%s has no usage of containers between %s and %s", source.Name(), since.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339))
	}
	return machines, err
}
