package owners

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Config configures Owners.
type Config struct {
	// Resources are the resources to follow. With none, owners are only derived from
	// names.
	Resources []schema.GroupResource
	// Client reads their objects, and Discovery finds their versions. Both may be nil if
	// there are no resources.
	Client    metadata.Interface
	Discovery discovery.DiscoveryInterface
	// Changed is called with the uid of each object whose pods may have other workloads
	// than before: the pods whose controller the object is.
	Changed func(types.UID)
}

// Owners finds the owners above the controllers of pods.
type Owners struct {
	config Config
	graph  *graph
	states []*state
}

// New returns Owners that only derive owners from names until Run.
func New(config Config) *Owners {
	o := &Owners{config: config, graph: newGraph()}
	for _, resource := range config.Resources {
		o.states = append(o.states, &state{resource: resource})
	}
	return o
}

// Run follows the resources until ctx is done.
func (o *Owners) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, s := range o.states {
		running.Go(func() { o.follow(ctx, s) })
	}
	running.Wait()
}

// Wait returns once the objects of each resource are known, or waiting longer would not
// help. It fails only when ctx is done.
func (o *Owners) Wait(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		for _, s := range o.states {
			if !s.settled() {
				return false, nil
			}
		}
		return true, nil
	})
}

// Chain appends the workloads of a pod, the narrowest first: its controller, the
// controller's controller, and so on as far as they are known. It allocates nothing except
// what it appends.
func (o *Owners) Chain(to []workload.Workload, of *pod.Pod) []workload.Workload {
	return o.graph.chain(to, of)
}

// Has reports whether a pod has a workload of an API group.
func (o *Owners) Has(of *pod.Pod, w workload.Workload, group string) bool {
	found := false
	o.graph.walk(of, func(is workload.Workload, in string) { found = found || is == w && in == group })
	return found
}

// Problem returns an error that lists the resources that cannot be read, one per line; nil if
// all can be read.
func (o *Owners) Problem() error {
	var problems []error
	for _, s := range o.states {
		problems = append(problems, s.problem())
	}
	return errors.Join(problems...)
}
