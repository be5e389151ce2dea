# SPDX-License-Identifier: Apache-2.0
"""The spread of each scope over the ranks of a job, with Spark: for more run files than one machine
reads. A row of the result has the numbers of the view `ranks` of `stint report`.

    for run in runs/*.stint; do stint export "$run" --to json -o "${run%.stint}.json"; done
    spark-submit spark_ranks.py 'runs/*.json' ranks.parquet
"""
import sys

QUERY = """
SELECT name, `set`, count(*) AS ranks, sum(calls) AS calls, sum(total_ns) AS total_ns,
       min(total_ns) AS min_ns, max(total_ns) AS max_ns,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY total_ns) AS median_ns,
       max_by(rank, total_ns) AS longest, min_by(rank, total_ns) AS shortest,
       max(total_ns) * count(*) - sum(total_ns) AS lost_ns
FROM scopes WHERE calls > 0 GROUP BY name, `set` ORDER BY lost_ns DESC
"""


def main(runs, out):
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.appName("stint ranks").getOrCreate()
    # A run is one document, of several lines.
    documents = spark.read.option("multiLine", True).json(runs)
    documents.selectExpr("inline(stats)").createOrReplaceTempView("scopes")
    spark.sql(QUERY).write.mode("overwrite").parquet(out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
