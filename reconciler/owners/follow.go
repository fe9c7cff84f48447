package owners

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// lookEvery is the delay between attempts to discover a resource that is not installed.
	lookEvery = 10 * time.Second
	// retryEvery is the delay after an attempt that failed.
	retryEvery = time.Second
)

// follow keeps the objects of a resource in the graph until ctx is done. Meanwhile the
// resource may be installed and uninstalled.
func (o *Owners) follow(ctx context.Context, s *state) {
	var to *store
	for {
		pause := lookEvery
		found, err := discover(ctx, o.config.Discovery, s.resource)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.failed(ctx, err)
			pause = retryEvery
		case found == nil:
			if to != nil {
				to.clear()
				to = nil
			}
			s.absent(ctx)
		default:
			if to == nil || to.kind.name != found.kind {
				to = &store{graph: o.graph, kind: &kind{found.kind}, changed: o.config.Changed}
			}
			o.read(ctx, s, found.resource, to)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// read keeps the objects of a resource in the store until the API server no longer serves
// the resource, or ctx is done.
func (o *Owners) read(ctx context.Context, s *state, resource schema.GroupVersionResource, to *store) {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	failed := func(err error) {
		switch {
		case reading.Err() != nil:
		case apierrors.IsNotFound(err):
			stop()
		default:
			s.failed(ctx, err)
		}
	}
	// streamed reports whether a watch delivers the first objects. The same watch then
	// delivers the changes: no further watch follows that could fail.
	streamed := false
	to.filled = func() {
		s.read()
		if streamed {
			s.succeeded(ctx)
		}
	}
	client := o.config.Client.Resource(resource)
	reflector := cache.NewReflectorWithOptions(&cache.ListWatch{
		ListWithContextFunc: func(listing context.Context, options metav1.ListOptions) (runtime.Object, error) {
			streamed = false
			list, err := client.List(listing, options)
			// An expired list starts over.
			if err != nil && !apierrors.IsResourceExpired(err) {
				failed(err)
			}
			return list, err
		},
		WatchFuncWithContext: func(watching context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := client.Watch(watching, options)
			streamed = options.SendInitialEvents != nil
			switch {
			case err == nil && !streamed:
				s.succeeded(ctx)
			case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
				failed(err)
			}
			return w, err // The next list reports other errors if they last.
		},
	}, &metav1.PartialObjectMetadata{}, to, cache.ReflectorOptions{Name: s.resource.String()})
	// Without a logger, which would log each failed attempt: the state logs a failure once.
	reflector.RunWithContext(klog.NewContext(reading, klog.Logger{}))
}
