package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// bench is one run of the benchmarks.
type bench struct {
	cluster *cluster
	report  report
	// pods is the number of pods to resize at the same time, and rounds is how
	// often each variant is measured.
	pods, rounds int
	// profiles is the directory for profiles of the server, empty for none.
	profiles string
	// latencyFor is how long pods keep starting while latency is measured.
	latencyFor time.Duration
	// handovers is the number of handovers.
	handovers int
	// sizes are the numbers of pods at which growth is measured, in this order. quiet is
	// the one that targets apply to. quietFor is how long the idle server is measured at
	// the sizes that are compared.
	sizes    []int
	quiet    int
	quietFor time.Duration
	// quietNames are the templates of the quiet pods, once there are any.
	quietNames []string
	begun      time.Time
}

// parts are the parts of the benchmark, in order.
var parts = []struct {
	name string
	run  func(context.Context, *bench) error
}{{"throughput", throughput}, {"latency", latency}, {"handover", handover}, {"growth", growth}}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	var pattern, out string
	var quick bool
	b := &bench{}
	command := &cobra.Command{
		Use: "bench", Short: "Measure the speed and cost of the server, compared to a bare client", Args: cobra.NoArgs,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			selected, err := regexp.Compile(pattern)
			if err != nil {
				return fmt.Errorf("--run: %w", err)
			}
			if b.pods < 1 {
				return fmt.Errorf("--pods: must be at least 1, not %d", b.pods)
			}
			b.rounds, b.latencyFor, b.quietFor = len(order), time.Minute, time.Minute
			b.handovers = 10
			b.sizes, b.quiet = []int{1_000, 5_000, 20_000, 50_000, 150_000}, 20_000
			if quick {
				b.pods = min(b.pods, 500)
				b.rounds, b.latencyFor, b.quietFor = 1, 10*time.Second, 10*time.Second
				b.handovers = 3
				b.sizes = []int{1_000, 5_000, 20_000}
			}
			return b.run(command.Context(), selected, out)
		},
	}
	flags := command.Flags()
	flags.StringVar(&pattern, "run", "", "measure only the parts that match this regular expression: throughput, latency, handover, growth")
	flags.IntVar(&b.pods, "pods", 2_000, "number of pods to resize at the same time")
	flags.BoolVar(&quick, "quick", false, "measure once and with fewer pods, to check that everything works")
	flags.StringVar(&b.profiles, "profiles", "", "directory for CPU profiles of the server, one per variant of throughput; each variant is measured again for its profile")
	flags.StringVar(&out, "out", "bench.json", "file for the results, as JSON")
	command.AddCommand(newRawCommand())
	return command
}

func (b *bench) run(ctx context.Context, selected *regexp.Regexp, out string) (err error) {
	// Silence client-go's log: API servers come and go here.
	ctx = klog.NewContext(ctx, klog.Logger{})
	b.begun = time.Now()
	b.say("bringing up a control plane")
	if b.cluster, err = up(ctx); err != nil {
		return err
	}
	// Report the measurements even if a later part fails.
	defer func() { err = errors.Join(err, b.report.print(os.Stdout), b.report.write(out), b.cluster.down()) }()
	for _, part := range parts {
		if !selected.MatchString(part.name) {
			continue
		}
		if err := part.run(ctx, b); err != nil {
			return fmt.Errorf("measure %s: %w", part.name, err)
		}
	}
	return nil
}

// say prints the progress.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(b.begun).Seconds(), fmt.Sprintf(format, args...))
}

// stop ends a server.
func (b *bench) stop(s *server) {
	if err := s.Stop(); err != nil {
		b.say("the server did not end cleanly: %v", err)
	}
}
