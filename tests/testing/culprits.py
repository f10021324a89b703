"""Each broken method with the checks that find it."""

from tests.testing import broken

CULPRITS = {
    broken.Thawed: {"declared"},
    broken.Misspelt: {"spelling"},
    broken.WithoutReturn: {"runs"},
    broken.WrongGrid: {"grid"},
    broken.UnknownGrid: {"grid"},
    broken.LargeBatch: {"batch_size"},
    broken.Recompiling: {"compiled_once"},
    broken.Random: {"same_seed", "chunks", "pickling", "sparse_rows", "float32_rows"},
    broken.StepPerChunk: {"chunks"},
    broken.LosesState: {"pickling"},
    broken.KnowsPlaces: {"resumable"},
    broken.CountsCalls: {"empty_chunk"},
    broken.ClipsInput: {"inputs_untouched"},
    broken.ListOfScores: {"scores"},
    broken.Centring: {"companions"},
    broken.CountsScores: {"reading"},
    broken.OtherWeights: {"weights"},
    broken.FinalInPlace: {"finalize"},
    broken.OtherOnSparse: {"sparse_rows"},
    broken.OtherOnSingle: {"float32_rows"},
    broken.NeedsBoth: {"one_class_first"},
    broken.NeverDone: {"converges"},
    broken.Worst: {"auc"},
    broken.ClaimsSparse: {"cost"},
    broken.UnknownExemption: {"exempt"},
    broken.EmptyExemption: {"exempt"},
}
