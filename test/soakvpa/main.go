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
	duration time.Duration
	crds     string
}

func main() {
	var o options
	flag.DurationVar(&o.duration, "duration", 15*time.Minute, "how long both recommenders are compared")
	flag.StringVar(&o.crds, "crds", "", "file with the VPA's custom resource definitions")
	flag.Parse()
	if err := o.validate(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	// metrics-server is stopped on purpose, so client-go's log is discarded.
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
	case o.crds == "":
		return errors.New("--crds is required")
	case o.duration < 5*time.Minute:
		return errors.New("--duration must be at least 5m, so that usage of several half-lives counts")
	}
	return nil
}
