package prometheus

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// kept is a folder with complete answers about a past that no longer changes, so that a read that was interrupted does not
// ask for them again; empty for none. A folder that cannot be used loses only that: it is no reason to fail.
type kept string

// settled is how old the end of an answer is at least when it is kept: a remote storage may get samples two hours late.
const settled = 3 * time.Hour

// path returns the file of an answer. The range is part of its name, because the same query has many.
func (k kept) path(query string, r promv1.Range) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s", r.Start.UnixNano(), r.End.UnixNano(), r.Step, query))
	return filepath.Join(string(k), hex.EncodeToString(sum[:])+".json.gz")
}

// load returns an answer that was kept. One that was not written completely was not.
func (k kept) load(query string, r promv1.Range) (matrix model.Matrix, found bool) {
	if k == "" {
		return nil, false
	}
	file, err := os.Open(k.path(query, r))
	if err != nil {
		return nil, false
	}
	defer file.Close()
	unzip, err := gzip.NewReader(file)
	if err != nil {
		return nil, false
	}
	// Only at the end, gzip knows whether all of it is right.
	text, err := io.ReadAll(unzip)
	if err != nil || json.Unmarshal(text, &matrix) != nil {
		return nil, false
	}
	matrix, err = check(matrix, r)
	return matrix, err == nil
}

// save keeps an answer.
func (k kept) save(query string, r promv1.Range, matrix model.Matrix) {
	if k == "" || r.End.After(time.Now().Add(-settled)) || os.MkdirAll(string(k), 0o700) != nil {
		return
	}
	file, err := os.CreateTemp(string(k), "new-*")
	if err != nil {
		return
	}
	defer os.Remove(file.Name()) // Unless it has its name by then.
	zip := gzip.NewWriter(file)
	err = json.NewEncoder(zip).Encode(matrix)
	if errZip, errFile := zip.Close(), file.Close(); err == nil && errZip == nil && errFile == nil {
		_ = os.Rename(file.Name(), k.path(query, r))
	}
}
