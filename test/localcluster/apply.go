package localcluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// FieldManager is the field manager of applied objects.
const FieldManager = "localcluster"

// Apply creates or updates the objects of YAML documents with server-side apply. It applies
// Namespaces first, then the other objects in the given order. A namespaced object without a
// namespace goes to "default".
func Apply(ctx context.Context, cfg *rest.Config, manifests ...[]byte) error {
	objects, err := decode(manifests)
	if err != nil {
		return err
	}
	a, err := newApplier(cfg)
	if err != nil {
		return err
	}
	return a.applyAll(ctx, objects)
}

// decode reads the objects of the documents, Namespaces first.
func decode(manifests [][]byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, manifest := range manifests {
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("read manifest: %w", err)
			}
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &object.Object); err != nil {
				return nil, fmt.Errorf("parse manifest: %w", err)
			}
			if len(object.Object) > 0 { // Skips documents that contain only comments.
				objects = append(objects, object)
			}
		}
	}
	rank := func(o *unstructured.Unstructured) int {
		if o.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: "Namespace"}) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return objects, nil
}

type applier struct {
	client dynamic.Interface
	mapper meta.RESTMapper
	// namespace replaces the namespaces in manifests, and cluster-scoped objects are skipped.
	// If it is empty, all objects are applied as they are.
	namespace string
}

func newApplier(cfg *rest.Config) (*applier, error) {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("create the client for applying manifests: %w", err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("create the client for applying manifests: %w", err)
	}
	return &applier{client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

func (a *applier) applyAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := a.apply(ctx, object); err != nil {
			return fmt.Errorf("apply %s %s: %w", object.GetKind(), strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/"), err)
		}
	}
	return nil
}

func (a *applier) apply(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	if a.namespace != "" {
		if !namespaced {
			return nil
		}
		moveInto(a.namespace, object)
	}
	var resource dynamic.ResourceInterface = a.client.Resource(mapping.Resource)
	if namespaced {
		if object.GetNamespace() == "" {
			object.SetNamespace(metav1.NamespaceDefault)
		}
		resource = a.client.Resource(mapping.Resource).Namespace(object.GetNamespace())
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		_, last = resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
		if isTooEarly(last) {
			return false, nil
		}
		return true, last
	})
	if wait.Interrupted(err) {
		return errors.Join(err, last)
	}
	return err
}

// moveInto moves an object, and the ServiceAccounts that it binds, to another namespace.
func moveInto(namespace string, object *unstructured.Unstructured) {
	object.SetNamespace(namespace)
	subjects, _ := object.Object["subjects"].([]any)
	for _, subject := range subjects {
		if s, ok := subject.(map[string]any); ok && s["namespace"] != nil {
			s["namespace"] = namespace
		}
	}
}

// isTooEarly reports whether a bare pod was refused because the controller manager has not
// created the ServiceAccount of a new namespace yet.
func isTooEarly(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "error looking up service account")
}
