package translate

import (
	"k8s.io/apimachinery/pkg/labels"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Selector parses the field label_selector of a request. An empty selector selects
// everything.
func Selector(text string) (labels.Selector, error) {
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, rpcerror.BadField("label_selector", `is not a label selector like "app=web,tier!=cache": `+err.Error())
	}
	return selector, nil
}
