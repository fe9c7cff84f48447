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

// bench is one run.
type bench struct {
	cluster *cluster
	report  report
	// pods is how many are resized at once, rounds how often each is measured.
	pods, rounds int
	// profiles is the directory for profiles of the server, empty for none.
	profiles string
	// latencyFor is how long pods come while the latency is measured.
	latencyFor time.Duration
	// handovers is how often one server follows another.
	handovers int
	// sizes are how many pods there are in turn while growth is measured, and
	// quiet is the one that targets are for and at which the idle server is looked
	// at for quietFor.
	sizes    []int
	quiet    int
	quietFor time.Duration
	// quietNames are the templates of the quiet pods, once there are any.
	quietNames []string
	begun      time.Time
}

// parts are what is measured, in this order.
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
		Use: "bench", Short: "Measure the server's speed and cost beside bare clients", Args: cobra.NoArgs,
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
	flags.IntVar(&b.pods, "pods", 2_000, "how many pods are resized at once")
	flags.BoolVar(&quick, "quick", false, "measure once and with fewer pods, to see that all of it works")
	flags.StringVar(&b.profiles, "profiles", "", "directory for CPU profiles of the server, one per variant of throughput, which are measured once more for it")
	flags.StringVar(&out, "out", "bench.json", "file for the figures")
	command.AddCommand(newRawCommand())
	return command
}

func (b *bench) run(ctx context.Context, selected *regexp.Regexp, out string) (err error) {
	// client-go's log is silenced: API servers come and go here.
	ctx = klog.NewContext(ctx, klog.Logger{})
	b.begun = time.Now()
	b.say("bringing a control plane up")
	if b.cluster, err = up(ctx); err != nil {
		return err
	}
	// What was measured is told whatever fails later.
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

// say tells people how far it is.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(b.begun).Seconds(), fmt.Sprintf(format, args...))
}

// stop ends a server.
func (b *bench) stop(s *server) {
	if err := s.Stop(); err != nil {
		b.say("the server did not end in order: %v", err)
	}
}
