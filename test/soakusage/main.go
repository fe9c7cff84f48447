package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/klog/v2"
)

// options are the flags.
type options struct {
	warm, metricsDown, apiDown, killEvery, gone time.Duration
	kills                                       int
}

func main() {
	var o options
	flag.DurationVar(&o.warm, "warm", 4*time.Minute, "how long usage is collected before anything is disturbed")
	flag.DurationVar(&o.metricsDown, "metrics-down", 10*time.Minute, "how long metrics-server is down")
	flag.DurationVar(&o.apiDown, "api-down", time.Minute, "how long the API server is down")
	flag.DurationVar(&o.killEvery, "kill-every", time.Minute, "time between two kills of the leader")
	flag.IntVar(&o.kills, "kills", 5, "how often the leader is killed")
	flag.DurationVar(&o.gone, "gone", 15*time.Minute, "how long a workload is deleted before it is created again; the other disturbances happen in that time")
	flag.Parse()
	if err := o.validate(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	// The API server is stopped on purpose, so client-go's log is discarded.
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
	case o.warm < 2*time.Minute:
		return errors.New("-warm must be at least 2m, so that the history is stored")
	case o.metricsDown <= 0 || o.apiDown <= 0 || o.killEvery <= 0 || o.gone <= 0:
		return errors.New("-metrics-down, -api-down, -kill-every and -gone must be above 0")
	case o.kills < 1:
		return errors.New("-kills must be at least 1")
	}
	return nil
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().UTC().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
