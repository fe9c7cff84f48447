package manifests

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/file"
	"github.com/workload-resizer/workload-resizer/reconciler/manifest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server/rules"
)

// Shorten returns the text of a manifest without what is never planned, to send and parse less. Lines keep their
// numbers.
func Shorten(text string) string { return string(manifest.Shorten([]byte(text))) }

// Offline answers a request with a configuration, the text of a config.yaml, as a standalone server
// with that configuration and these --workload-kinds would.
func Offline(ctx context.Context, configuration []byte, workloads []schema.GroupResource, request *workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error) {
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
	return Preview(ctx, &plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}, workloads, store, nil, request)
}
