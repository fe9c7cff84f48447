package owners

import (
	"context"
	"fmt"
	"path"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// installed is a kind that the API server serves.
type installed struct {
	resource schema.GroupVersionResource
	kind     string
}

// discover returns the version of a resource that the API server prefers among the versions
// that can be watched; nil if there is none. It requests only the one API group.
func discover(ctx context.Context, client discovery.DiscoveryInterface, resource schema.GroupResource) (*installed, error) {
	versions, err := versionsOf(ctx, client, resource.Group)
	if err != nil {
		return nil, fmt.Errorf("list the versions of API group %q: %w", resource.Group, err)
	}
	for _, version := range versions {
		gv := schema.GroupVersion{Group: resource.Group, Version: version}
		var list metav1.APIResourceList
		if err := get(ctx, client, pathOf(gv), &list); err != nil {
			return nil, fmt.Errorf("list the resources of %s: %w", gv, err)
		}
		for i := range list.APIResources {
			r := &list.APIResources[i]
			if r.Name == resource.Resource && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch") {
				return &installed{gv.WithResource(r.Name), r.Kind}, nil
			}
		}
	}
	return nil, nil
}

// versionsOf returns the versions of an API group, the preferred one first; none if the
// group does not exist.
func versionsOf(ctx context.Context, client discovery.DiscoveryInterface, group string) ([]string, error) {
	if group == "" {
		return []string{"v1"}, nil
	}
	var found metav1.APIGroup
	if err := get(ctx, client, "/apis/"+group, &found); err != nil {
		return nil, err
	}
	var versions []string
	for _, v := range append([]metav1.GroupVersionForDiscovery{found.PreferredVersion}, found.Versions...) {
		if v.Version != "" && !slices.Contains(versions, v.Version) {
			versions = append(versions, v.Version)
		}
	}
	return versions, nil
}

func pathOf(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return path.Join("/api", gv.Version)
	}
	return path.Join("/apis", gv.Group, gv.Version)
}

// get reads the object at a path. A missing object is empty.
func get(ctx context.Context, client discovery.DiscoveryInterface, path string, into runtime.Object) error {
	err := client.RESTClient().Get().AbsPath(path).Do(ctx).Into(into)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
