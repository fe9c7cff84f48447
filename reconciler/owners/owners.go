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
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Config is what Owners are made of.
type Config struct {
	// Resources are followed; with none, only what names tell is known.
	Resources []schema.GroupResource
	// Client reads their objects, and Discovery finds their versions. Both may be nil
	// where there are no resources.
	Client    metadata.Interface
	Discovery discovery.DiscoveryInterface
	// Changed is called with the uid of each object whose pods may have other workloads
	// than before; the pods are those whose controller it is.
	Changed func(types.UID)
}

// Owners knows what is above the controllers of pods.
type Owners struct {
	config Config
	graph  *graph
	states []*state
}

// New returns one that knows only what names tell until Run.
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

// Wait returns once the objects of each resource are known, or nothing can be done about
// that they are not; the error is that ctx is done.
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

// Chain appends the workloads of a pod, the narrowest first: its controller, what controls
// that, and so on as far as that is known. It allocates nothing but what it appends.
func (o *Owners) Chain(to []safety.Workload, of *pod.Pod) []safety.Workload {
	return o.graph.chain(to, of)
}

// Problem says what cannot be read, a line for each resource; nil if all can.
func (o *Owners) Problem() error {
	var problems []error
	for _, s := range o.states {
		problems = append(problems, s.problem())
	}
	return errors.Join(problems...)
}
