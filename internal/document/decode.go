package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	yamlv3 "go.yaml.in/yaml/v3"
	strictjson "sigs.k8s.io/json"
)

// Decode reads YAML into a value with JSON tags. Empty text leaves the value unchanged.
// Decode rejects unknown keys, duplicate keys and second documents.
func Decode(text string, into any) error {
	var content, second any
	decoder := yamlv3.NewDecoder(bytes.NewReader([]byte(text)))
	if err := decoder.Decode(&content); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read YAML: %w", err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return errors.New("must be one YAML document, but more content follows ---")
	}
	asJSON, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("read YAML: %w", err)
	}
	unknown, err := strictjson.UnmarshalStrict(asJSON, into)
	if err != nil {
		return fmt.Errorf("read YAML: %w", err)
	}
	return Faults(unknown).Err()
}
