package deploy

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// templates returns the pod templates of a manifest, by KIND/NAME.
func templates(t *testing.T, manifest []byte) map[string]corev1.PodTemplateSpec {
	t.Helper()
	found := map[string]corev1.PodTemplateSpec{}
	for _, object := range objects(t, manifest) {
		content, has, err := unstructured.NestedMap(object.Object, "spec", "template")
		if err != nil {
			t.Fatal(err)
		}
		if !has {
			continue
		}
		var template corev1.PodTemplateSpec
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, &template, true); err != nil {
			t.Fatal(err)
		}
		found[object.GetKind()+"/"+object.GetName()] = template
	}
	return found
}

// server returns the pod template of the Deployment.
func server(t *testing.T, manifest []byte) corev1.PodTemplateSpec {
	t.Helper()
	for name, template := range templates(t, manifest) {
		if strings.HasPrefix(name, "Deployment/") {
			return template
		}
	}
	t.Fatal("the manifest has no Deployment")
	return corev1.PodTemplateSpec{}
}
