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
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/backtest"
	"github.com/workload-resizer/workload-resizer/usage/prometheus"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// input is where the machines come from.
type input struct {
	trace string

	prometheus, tenant, selector string
	credentials                  prometheus.Credentials
	span                         time.Duration
	until                        string
	// kept is the folder with the answers of the Prometheus.
	kept string

	machines, days int
	seed           uint64
}

func (in *input) addFlags(f *pflag.FlagSet) {
	f.StringVar(&in.trace, "trace", "", "trace to replay, or - for standard input")
	f.StringVar(&in.prometheus, "prometheus", "", "URL of a Prometheus, or anything with its API, whose containers to replay")
	f.StringVar(&in.tenant, "tenant", "", "tenant to read, if the Prometheus has several (sent as X-Scope-OrgID)")
	f.StringVar(&in.selector, "selector", "", `label matchers that all series must match, such as cluster="a" if the Prometheus has several clusters`)
	f.StringVar(&in.credentials.TokenFile, "prometheus-token-file", "", "file with a token for the Prometheus; read again when it changes")
	f.StringVar(&in.credentials.HeadersFile, "prometheus-headers-file", "", "file with headers for the Prometheus, for example of a proxy in front of it: one per line, as NAME: VALUE; read again when it changes")
	f.StringVar(&in.credentials.CAFile, "prometheus-ca-file", "", "PEM file with the certificate authorities of the Prometheus (default: those of the system)")
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
	for _, flag := range []struct{ name, value, expected string }{
		{"trace", in.trace, "a file, or - for standard input"},
		{"prometheus", in.prometheus, "a URL such as http://localhost:9090"},
		{"selector", strings.TrimSpace(in.selector), "label matchers such as cluster=\"a\""},
		{"tenant", in.tenant, "the name of a tenant"},
		{"prometheus-token-file", in.credentials.TokenFile, "a file with a token"},
		{"prometheus-headers-file", in.credentials.HeadersFile, "a file with a header per line, as NAME: VALUE"},
		{"prometheus-ca-file", in.credentials.CAFile, "a PEM file with certificates"},
	} {
		if given(flag.name) && flag.value == "" {
			return fmt.Errorf("--%s is empty: expected %s", flag.name, flag.expected)
		}
	}
	switch {
	case in.trace != "" && in.prometheus != "":
		return errors.New("--trace and --prometheus cannot be combined")
	case in.prometheus == "" && some("prometheus-token-file", "prometheus-headers-file", "prometheus-ca-file"):
		return errors.New("--prometheus-token-file, --prometheus-headers-file and --prometheus-ca-file require --prometheus")
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
	var unknown []string
	keep := func(m *trace.Machine) error {
		if m.Given.Request.CPU == 0 || m.Given.Request.Memory == 0 {
			unknown = append(unknown, m.Name)
		} else {
			machines = append(machines, m)
		}
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
		} else if errors.Is(err, trace.ErrEndsEarly) {
			err = fmt.Errorf("%s: %w", in.trace, err)
		} else if err != nil {
			err = fmt.Errorf("%s: %w: see \"resizectl backtest --help\" for the form of a trace", in.trace, err)
		}
	}
	if err == nil && len(unknown) > 0 {
		fmt.Fprintf(warnings, "warning: the replay is without %s whose cores or memory are unknown (0): %s\n",
			print.CountOf(int64(len(unknown)), "machine"), print.OneLine(print.First(unknown, named)))
	}
	return machines, err
}

// named is how many machines a warning names at most.
const named = 10

// settings returns the rules of the replay that the flags set.
func (o *options) settings() (backtest.Settings, error) {
	s := backtest.DefaultSettings()
	if fault := o.changes.invalid(); fault != "" {
		return s, errors.New(fault)
	}
	for i, speed := range o.speeds {
		if slices.Contains(o.speeds[:i], speed) {
			return s, fmt.Errorf("speed %v is given twice", speed)
		}
		if !(speed >= 0.01 && speed <= 100) {
			return s, fmt.Errorf("speed %v is not between 0.01 and 100", speed)
		}
	}
	if price := func(p float64) bool { return p >= 0 && p <= 1e9 }; !price(o.prices.Core) || !price(o.prices.GiB) {
		return s, errors.New("prices must be from 0 to 1000000000")
	}
	if o.every <= 0 {
		return s, errors.New("--every must be positive, e.g. 12h")
	}
	if !(o.badDay >= 0 && o.badDay <= 1) {
		return s, errors.New("--bad-day must be between 0 and 1, e.g. 0.05")
	}
	s.Speeds, s.Every, s.BadDay = o.speeds, o.every, o.badDay
	// The default table has none of its figures, but may be in their order.
	s.Lasting = o.Format != print.FormatTable || o.SortBy.IsSet()
	node, err := parseNode(o.node)
	s.Node = node
	return s, err
}

// leastMemory is the least memory of a node. Less is a missing unit.
var leastMemory = resource.MustParse("1Mi")

// parseNode reads the size of a node, e.g. 16,64Gi.
func parseNode(text string) (node recommend.Amounts, err error) {
	cores, memory, found := strings.Cut(text, ",")
	cpu, errCPU := sizing.Quantity(cores)
	bytes, errMemory := sizing.Quantity(memory)
	if !found || errCPU != nil || errMemory != nil || cpu.Sign() <= 0 || bytes.Sign() <= 0 {
		return node, fmt.Errorf("node %q is not CORES,MEMORY, e.g. 16,64Gi", text)
	}
	if cpu.AsApproximateFloat64() > 1e6 || bytes.AsApproximateFloat64() > 1<<50 {
		return node, fmt.Errorf("node %q is larger than 1000000 cores or 1Pi", text)
	}
	if bytes.Cmp(leastMemory) < 0 {
		return node, fmt.Errorf("node %q has less than 1Mi of memory, e.g. 16,64Gi", text)
	}
	return recommend.Amounts{CPU: cpu.MilliValue(), Memory: bytes.Value()}, nil
}
