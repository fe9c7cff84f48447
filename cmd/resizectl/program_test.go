package main

import (
	"context"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
)

// program is resizectl with all its commands.
var program = cmdtest.Program(func(ctx context.Context, streams genericiooptions.IOStreams, args []string) int {
	return run(ctx, "resizectl", streams, args)
})
