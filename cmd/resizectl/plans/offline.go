package plans

import (
	"context"
	"fmt"
	"os"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/configs"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/server/standalone"
)

// startStandalone starts a server with a configuration in this process. The function that it
// returns stops the server.
var startStandalone = standalone.Start

// offline returns a planner with the configuration in a file, in any form that "config
// validate" reads. Plans show which ratios are implausible.
func offline(ctx context.Context, file string) (plans workloadresizerv1.PlanServiceClient, stop func() error, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
	found := configs.Find(text, configs.DefaultName)
	if len(found) > 1 {
		return nil, nil, fmt.Errorf("%s has %d configurations, and none is in a ConfigMap named %s: use a file with one", file, len(found), configs.DefaultName)
	}
	err = found[0].Err
	if err == nil {
		err = config.Check(found[0].Text)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s is not valid: %w\nsee \"resizectl config validate -f %s\"", file, err, file)
	}
	conn, stop, err := startStandalone(ctx, found[0].Text)
	if err != nil {
		return nil, nil, err
	}
	return workloadresizerv1.NewPlanServiceClient(conn), stop, nil
}
