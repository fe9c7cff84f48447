package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/workload-resizer/workload-resizer/deploy"
)

// installed returns the objects of deploy/base that the server needs in every cluster, and those of
// the admission policies. They say which rights and policies there must be.
func installed() (objects []*unstructured.Unstructured, err error) {
	for _, manifest := range append(deploy.Base(), deploy.AnnotationGuard(), deploy.AccountGuard()) {
		for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096); ; {
			o := &unstructured.Unstructured{}
			if err := decoder.Decode(o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read the manifests of this program: %w", err)
			}
			objects = append(objects, o)
		}
	}
	return objects, nil
}
