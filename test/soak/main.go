package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"k8s.io/klog/v2"
)

// options are the flags.
type options struct {
	duration  time.Duration
	rate      float64
	pods      int
	replicas  int
	killEvery time.Duration
	tail      time.Duration
	within    time.Duration
	report    string
}

func main() {
	var o options
	flag.DurationVar(&o.duration, "duration", 30*time.Minute, "how long pods are deleted and created")
	flag.Float64Var(&o.rate, "rate", 20, "pods deleted, and therefore created, per second")
	flag.IntVar(&o.pods, "pods", 240, "number of pods at any time")
	flag.IntVar(&o.replicas, "replicas", 3, "number of replicas of the server")
	flag.DurationVar(&o.killEvery, "kill-every", 5*time.Minute, "how often the leader is killed; it is killed at least once")
	flag.DurationVar(&o.tail, "tail", 38*time.Minute, "how long pods are deleted and created after that, without kills, while memory must not grow")
	flag.DurationVar(&o.within, "within", 5*time.Second, "how long a pod may run without being sized")
	flag.StringVar(&o.report, "report", "soak", "file name of the report, without the extensions .json and .md")
	flag.Parse()
	if err := o.validate(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	// Connections break on purpose, so client-go's log is discarded.
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (o *options) validate(args []string) error {
	switch {
	case len(args) > 0:
		return fmt.Errorf("unknown argument %q", args[0])
	case o.duration <= 0 || o.killEvery <= 0:
		return errors.New("-duration and -kill-every must be above 0")
	case o.tail <= 0 || o.within <= 0:
		return errors.New("-tail and -within must be above 0")
	case o.rate <= 0 || o.pods < 1:
		return errors.New("-rate and -pods must be above 0")
	case o.replicas < 2:
		return errors.New("-replicas must be at least 2, so that another one can lead")
	}
	return nil
}

// run executes the soak and writes the report. It returns an error if the soak fails or
// if the report has problems.
func run(ctx context.Context, o options) (err error) {
	s, err := newSoak(ctx, o)
	if s != nil {
		defer func() { err = errors.Join(err, s.close()) }()
	}
	if err != nil {
		return err
	}
	failed := s.soak(ctx)
	r := s.sumUp()
	if failed != nil {
		r.Problems = append(r.Problems, failed.Error())
	}
	if err := r.write(o.report); err != nil {
		return err
	}
	r.markdown(os.Stdout)
	if len(r.Problems) > 0 {
		return fmt.Errorf("%d problems; see %s.md", len(r.Problems), o.report)
	}
	return nil
}

func sortedKeys(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }
