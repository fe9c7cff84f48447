package main

import (
	"flag"
	"log/slog"
	"os"
	"strconv"

	"k8s.io/klog/v2"
)

// setUpLog writes the log of this process, including client-go's, as structured lines
// to stderr.
func setUpLog(o *options) {
	handlerOptions := &slog.HandlerOptions{Level: slog.Level(-o.verbosity)}
	var handler slog.Handler = slog.NewTextHandler(os.Stderr, handlerOptions)
	if o.logFormat == "json" {
		handler = slog.NewJSONHandler(os.Stderr, handlerOptions)
	}
	klog.SetSlogLogger(slog.New(handler))
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	if err := flags.Set("v", strconv.Itoa(o.verbosity)); err != nil {
		panic("klog has no flag v: " + err.Error())
	}
}
