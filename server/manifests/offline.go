package manifests

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/proto"
	"k8s.io/klog/v2"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/file"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server/rules"
)

// Offline answers a request with a configuration, the text of a config.yaml, as a standalone server
// with that configuration would.
func Offline(ctx context.Context, configuration []byte, request *workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error) {
	// The limit for the text is one of the messages that callers send it in.
	checked := proto.CloneOf(request)
	checked.Manifest = "one part"
	if err := rules.New().Check(checked); err != nil {
		return nil, err
	}
	store := ratios.NewStore(file.Text(configuration))
	changed := store.Watch()
	// The errors contain what would be logged.
	following, stop := context.WithCancel(klog.NewContext(ctx, klog.New(nil)))
	ended := make(chan error, 1)
	go func() { ended <- store.Run(following) }()
	select {
	case <-changed:
	case <-ctx.Done():
	}
	stop()
	if err := cmp.Or(<-ended, ctx.Err()); err != nil {
		return nil, err
	}
	return Preview(ctx, &plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}, store, request)
}
