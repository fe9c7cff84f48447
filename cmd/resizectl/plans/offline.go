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

// startStandalone starts a server with a configuration in this process. What it
// returns ends it.
var startStandalone = standalone.Start

// offline is a planner with the configuration in a file. Files are what "config
// validate" takes.
func offline(ctx context.Context, file string) (plans workloadresizerv1.PlanServiceClient, stop func() error, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
	found := configs.Find(text, configs.DefaultName)
	if len(found) > 1 {
		return nil, nil, fmt.Errorf("%s has %d configurations, and none is of a ConfigMap named %s: name a file with one", file, len(found), configs.DefaultName)
	}
	err = found[0].Err
	if err == nil {
		_, _, err = config.Validate(found[0].Text)
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
